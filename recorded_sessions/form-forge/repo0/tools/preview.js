/** node tools/preview.js FORM [JSON]: the form's HTML, after a post of JSON if given; `admin` is the admin page. */

import { adminPage } from '../src/admin.js';
import { validate } from '../src/form.js';
import { formNamed, forms } from '../src/forms/index.js';
import { renderForm } from '../src/render.js';

const [name, posted] = process.argv.slice(2);
if (name === 'admin') {
  console.log(adminPage(forms));
} else {
  const form = formNamed(name);
  const { values, errors } = posted ? validate(form, JSON.parse(posted)) : { values: {}, errors: [] };
  console.log(renderForm(form, values, errors));
  for (const error of errors) console.log(`${error.code} ${error.limit ?? ''}`.trim());
}
