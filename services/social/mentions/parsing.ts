import { USERNAME } from '@tandem/account-kit'

const MAX_MENTIONS = 50

// These scripts put no spaces between words, so a letter of theirs next to a username or a link is not part of it.
const unspacedScripts = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{scx=${script}}`).join('')
// The marks at the end of an emoji do not make it a word.
const wordCharacter = String.raw`[\p{L}\p{M}\p{N}_]--[${unspacedScripts}\uFE0F\u20E3]`

// A character before the @ can make it part of an email or a path. The lookahead takes the whole name, so the character
// after it must not continue it.
const mentionPattern = new RegExp(
  String.raw`(?<![[${wordCharacter}]@\/])[@＠](?=(${USERNAME}))\1(?![[${wordCharacter}]@＠])`,
  'gv'
)

const linkPattern = new RegExp(
  String.raw`\b(?:https?:\/\/|www\.)[[${wordCharacter}]\-.~:\/?#\[\]@!$&'\(\)*+,;=%]+`,
  'giv'
)

/** A mention in a text, from its `@` up to, but without, `end`: positions in UTF-16 code units, as in JavaScript. */
interface MentionSpan {
  /** In lower case. */
  username: string
  start: number
  end: number
}

/** The mentions in a text, in order. A mention ends where a username can end: the dots after it are the sentence's. */
export function findMentions (text: string): MentionSpan[] {
  if (!/[@＠]/.test(text)) return []
  return [...blankLinks(text).matchAll(mentionPattern)].flatMap(({ 1: name = '', index }) => {
    if (name.length < 3 || name.length > 30) return []
    return [{ username: name.toLowerCase(), start: index, end: index + 1 + name.length }]
  })
}

/** The distinct usernames that a text mentions. */
export const parseMentions = (text: string) =>
  [...new Set(findMentions(text).map(({ username }) => username))].slice(0, MAX_MENTIONS)

/** The text with spaces in place of URLs: nothing inside a URL is a mention or a hashtag. All positions stay. */
export const blankLinks = (text: string) => text.replace(linkPattern, (link) => ' '.repeat(link.length))
