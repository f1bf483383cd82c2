import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineForm, validate } from '../src/form.js';
import { between } from '../src/rules.js';

const demo = defineForm('demo', [
  { name: 'headCount', label: 'Heads', kind: 'number', rules: [between(1, 3)] },
  { name: 'note', label: 'Note', kind: 'text', optional: true },
]);

test('a good input', () => {
  assert.deepEqual(validate(demo, { headCount: ' 2 ' }), { ok: true, values: { headCount: 2, note: '' }, errors: [] });
});

test('codes name form, field and reason', () => {
  const { ok, errors } = validate(demo, { headCount: '9' });
  assert.equal(ok, false);
  assert.deepEqual(errors, [{ field: 'headCount', code: 'DEMO_HEAD_COUNT_MAX', limit: 3 }]);
});

test('a field that stands twice is refused', () => {
  assert.throws(() => defineForm('demo', [{ name: 'a' }, { name: 'a' }]), /field a stands twice/);
});
