import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminPage } from '../src/admin.js';
import { forms } from '../src/forms/index.js';

test('each field has a row', () => {
  const rows = adminPage(forms).split('\n').filter((line) => line.includes('<td>'));
  assert.equal(rows.length, Object.values(forms).flatMap((form) => form.fields).length);
});
