import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forms } from '../src/forms/index.js';
import { EXACT, GENERIC } from '../src/messages.js';

for (const form of Object.values(forms)) {
  for (const field of form.fields) {
    test(`${form.name}.${field.name}: the label fits the badge column`, () => {
      assert.ok(field.label.length <= 24, `"${field.label}" has ${field.label.length} characters`);
    });
  }
}

test('no message is longer than 60 characters', () => {
  for (const text of [...Object.values(EXACT), ...Object.values(GENERIC)]) assert.ok(text.length <= 60, text);
});
