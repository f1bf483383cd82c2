import { defineForm } from '../form.js';
import { between, matches, maxLength } from '../rules.js';

export const guest = defineForm('guest', [
  { name: 'fullName', label: 'Name', kind: 'text', rules: [maxLength(200)] },
  { name: 'email', label: 'E-mail', kind: 'email', rules: [matches(/.+@.+/)] },
  { name: 'seats', label: 'Seats', kind: 'number', rules: [between(1, 999)] },
  { name: 'bornOn', label: 'Date of birth', kind: 'date', optional: true, rules: [matches(/\d{4}-\d{2}-\d{2}/)] },
  { name: 'note', label: 'Note', kind: 'text', optional: true },
]);
