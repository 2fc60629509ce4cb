const MAX_MENTIONS = 50

// These scripts put no spaces between words, so a letter of theirs next to a username is not part of it.
const unspacedScripts = String
  .raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const wordCharacter = String.raw`[\p{L}\p{M}\p{N}_]--[${unspacedScripts}]`

// A character before the @ can make it part of an email or a path. The lookahead takes the whole name, so the character
// after it must not continue it.
const mentionPattern = new RegExp(
  String.raw`(?<![[${wordCharacter}]@\/])[@＠](?=([A-Za-z0-9_.]{3,}))\1(?![[${wordCharacter}]@＠])`,
  'gv'
)

/** A mention in a text, from its `@` up to, but without, `end`: positions in UTF-16 code units, as in JavaScript. */
export interface MentionSpan {
  /** In lower case. */
  username: string
  start: number
  end: number
}

/** The mentions in a text, in order. A dot at the end belongs to the sentence, not to the username. */
export function findMentions (text: string): MentionSpan[] {
  if (!/[@＠]/.test(text)) return []
  return [...blankLinks(text).matchAll(mentionPattern)].flatMap(({ 1: match = '', index }) => {
    const name = match.replace(/\.+$/, '')
    if (name.length < 3 || name.length > 30) return []
    return [{ username: name.toLowerCase(), start: index, end: index + 1 + name.length }]
  })
}

/** The distinct usernames that a text mentions. */
export const parseMentions = (text: string) =>
  [...new Set(findMentions(text).map(({ username }) => username))].slice(0, MAX_MENTIONS)

/** The text with spaces in place of URLs: nothing inside a URL is a mention or a hashtag. All positions stay. */
export const blankLinks = (text: string) =>
  text.replace(/\b(?:https?:\/\/|www\.)[^\s<>"]+/giu, (link) => ' '.repeat(link.length))
