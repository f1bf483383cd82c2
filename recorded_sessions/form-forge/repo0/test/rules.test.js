import assert from 'node:assert/strict';
import { test } from 'node:test';
import { between, matches, maxLength, oneOf } from '../src/rules.js';

test('length counts characters, not code units', () => {
  assert.equal(maxLength(2)('🎪🎪'), null);
  assert.deepEqual(maxLength(2)('🎪🎪🎪'), { reason: 'LONG', limit: 2 });
});

test('between takes both ends', () => {
  const rule = between(1, 4);
  assert.equal(rule(1), null);
  assert.equal(rule(4), null);
  assert.deepEqual(rule(0), { reason: 'MIN', limit: 1 });
  assert.deepEqual(rule(5), { reason: 'MAX', limit: 4 });
  assert.deepEqual(rule(NaN), { reason: 'NUMBER' });
});

test('patterns and choices', () => {
  assert.deepEqual(matches(/^a$/)('b'), { reason: 'FORMAT' });
  assert.deepEqual(oneOf(['a'])('b'), { reason: 'CHOICE' });
});
