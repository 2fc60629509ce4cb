const MOST = 50

// Of scripts that put no spaces between words, a letter beside a name does not make it another word.
const spaceless = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const wordly = String.raw`[\p{L}\p{M}\p{N}_]--[${spaceless}]`

// What stands before the sign makes it a part of an email or a path; what follows the name, taken whole, must not go on with it.
const names = new RegExp(String.raw`(?<![[${wordly}]@\/])[@＠](?=([A-Za-z0-9_.]{3,}))\1(?![[${wordly}]@＠])`, 'gv')

/** The usernames that a text mentions, in lower case, each once. A dot at the end ends the sentence, not the name. */
export function parseMentions (text: string) {
  const found = [...withoutLinks(text).matchAll(names)].map(([, name = '']) => name.replace(/\.+$/, '').toLowerCase())
  return [...new Set(found.filter((name) => name.length >= 3 && name.length <= 30))].slice(0, MOST)
}

/** What is within a web address neither mentions nor tags. */
export const withoutLinks = (text: string) => text.replace(/\b(?:https?:\/\/|www\.)[^\s<>"]+/giu, ' ')
