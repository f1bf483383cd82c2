/** Rules: made from a limit, they take a value and give null or `{ reason, limit }`. */

const lengthOf = (value) => [...String(value)].length;

export const minLength = (min) => (value) => (lengthOf(value) < min ? { reason: 'SHORT', limit: min } : null);

export const maxLength = (max) => (value) => (lengthOf(value) > max ? { reason: 'LONG', limit: max } : null);

export const between = (min, max) => (value) => {
  if (!Number.isInteger(value)) return { reason: 'NUMBER' };
  if (value < min) return { reason: 'MIN', limit: min };
  return value > max ? { reason: 'MAX', limit: max } : null;
};

export const matches = (pattern) => (value) => (pattern.test(value) ? null : { reason: 'FORMAT' });

export const oneOf = (choices) => (value) => (choices.includes(value) ? null : { reason: 'CHOICE' });
