/** What the visitor reads when a value is wrong. */

export const GENERIC = {
  REQUIRED: 'This is needed.',
  SHORT: 'At least {limit} characters.',
  LONG: 'At most {limit} characters.',
  NUMBER: 'A whole number is needed here.',
  MIN: 'At least {limit}.',
  MAX: 'At most {limit}.',
  FORMAT: 'This does not look right.',
  CHOICE: 'Choose one of the list.',
};

export const EXACT = {
  GUEST_SEATS_MAX: 'We seat at most {limit} per booking.',
};

export function messageFor(error) {
  const reason = error.code.slice(error.code.lastIndexOf('_') + 1);
  const text = EXACT[error.code] ?? GENERIC[reason] ?? 'This does not fit.';
  return text.replace('{limit}', error.limit ?? '');
}
