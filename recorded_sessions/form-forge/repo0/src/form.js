/** Definition and validation of forms. */

export function defineForm(name, fields) {
  const names = fields.map((field) => field.name);
  const twice = names.find((one, at) => names.indexOf(one) !== at);
  if (twice) throw new Error(`form ${name}: field ${twice} stands twice`);
  return Object.freeze({ name, fields: Object.freeze(fields) });
}

const upper = (text) => text.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

export function codeOf(form, fieldName, reason) {
  return `${upper(form.name)}_${upper(fieldName)}_${reason}`;
}

export function convert(field, raw) {
  const text = raw === undefined || raw === null ? '' : String(raw).trim();
  if (field.kind !== 'number' || text === '') return text;
  return /^-?\d+$/.test(text) ? Number(text) : NaN;
}

export function validate(form, input) {
  const values = {};
  const errors = [];
  for (const field of form.fields) {
    const value = convert(field, input[field.name]);
    values[field.name] = value;
    const wrong = firstFault(field, value);
    if (wrong) errors.push({ field: field.name, code: codeOf(form, field.name, wrong.reason), limit: wrong.limit });
  }
  return { ok: errors.length === 0, values, errors };
}

function firstFault(field, value) {
  if (value === '') return field.optional ? null : { reason: 'REQUIRED' };
  for (const rule of field.rules ?? []) {
    const wrong = rule(value);
    if (wrong) return wrong;
  }
  return null;
}
