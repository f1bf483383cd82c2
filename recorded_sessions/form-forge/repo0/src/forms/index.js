/** All forms of the shop. */

import { guest } from './guest.js';

export const forms = { guest };

export function formNamed(name) {
  if (!Object.hasOwn(forms, name)) throw new Error(`no form named ${name}`);
  return forms[name];
}
