const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;'
}

/** Text as HTML, also in an attribute in quotes. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '')
