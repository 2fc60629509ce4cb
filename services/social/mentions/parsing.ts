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

/**
 * The distinct usernames that a text mentions, in lower case. A dot at the end belongs to the sentence, not to the
 * username.
 */
export function parseMentions (text: string) {
  const found = [...stripLinks(text).matchAll(mentionPattern)].map(([, name = '']) =>
    name.replace(/\.+$/, '').toLowerCase()
  )
  return [...new Set(found.filter((name) => name.length >= 3 && name.length <= 30))].slice(0, MAX_MENTIONS)
}

/** The text without URLs: nothing inside a URL is a mention or a hashtag. */
export const stripLinks = (text: string) => text.replace(/\b(?:https?:\/\/|www\.)[^\s<>"]+/giu, ' ')
