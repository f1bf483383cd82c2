/** The page on which the office sees what the forms ask. */

import { escapeHtml } from './escape.js';

export function adminPage(forms) {
  const lines = ['<table class="ff-admin">', '  <tr><th>form</th><th>field</th><th>kind</th></tr>'];
  for (const form of Object.values(forms)) {
    for (const field of form.fields) {
      const cells = [form.name, field.label, field.kind].map((cell) => `<td>${escapeHtml(cell)}</td>`);
      lines.push(`  <tr>${cells.join('')}</tr>`);
    }
  }
  lines.push('</table>');
  return lines.join('\n');
}
