/** Forms as HTML. */

import { escapeHtml } from './escape.js';
import { messageFor } from './messages.js';

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function renderForm(form, values = {}, errors = []) {
  const lines = [`<form id="ff-${form.name}" method="post" novalidate>`];
  for (const field of form.fields) {
    const error = errors.find((one) => one.field === field.name);
    lines.push(...renderField(field, values[field.name] ?? '', error).map((line) => `  ${line}`));
  }
  lines.push('  <button type="submit">Send</button>', '</form>');
  return lines.join('\n');
}

function renderField(field, value, error) {
  const id = `ff-${kebab(field.name)}`;
  const shown = Number.isNaN(value) ? '' : escapeHtml(value);
  const hint = error ? ` aria-invalid="true" aria-describedby="${id}-err"` : '';
  const lines = ['<div class="field">', `  <label for="${id}">${escapeHtml(field.label)}</label>`];
  if (field.kind === 'choice') {
    lines.push(`  <select id="${id}" name="${field.name}"${hint}>`);
    for (const choice of field.choices) {
      const picked = choice === value ? ' selected' : '';
      lines.push(`    <option value="${escapeHtml(choice)}"${picked}>${escapeHtml(choice)}</option>`);
    }
    lines.push('  </select>');
  } else {
    lines.push(`  <input id="${id}" name="${field.name}" type="${field.kind}" value="${shown}"${hint}>`);
  }
  if (error) lines.push(`  <p id="${id}-err" role="alert">${escapeHtml(messageFor(error))}</p>`);
  lines.push('</div>');
  return lines;
}
