import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guest } from '../src/forms/guest.js';
import { renderForm } from '../src/render.js';

test('values are escaped', () => {
  assert.match(renderForm(guest, { fullName: '<b>' }), /value="&lt;b&gt;"/);
});

test('an error is announced beside its field', () => {
  const html = renderForm(guest, { seats: 1000 }, [{ field: 'seats', code: 'GUEST_SEATS_MAX', limit: 24 }]);
  assert.match(html, /aria-describedby="ff-seats-err"/);
  assert.match(html, /<p id="ff-seats-err" role="alert">We seat at most 24 per booking\.<\/p>/);
});

test('a date of birth is never written back', () => {
  assert.doesNotMatch(renderForm(guest, { bornOn: '1980-05-17' }), /1980/);
});
