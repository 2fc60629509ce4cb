// Characters that show nothing: spaces, controls, and those that fonts ignore, such as U+200B. U+2800 is a blank of
// Braille, U+FFF9 to U+FFFB are marks of annotations.
const VISIBLE = /[^\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB]/u

/** A text without spaces around it. One that shows nothing counts as empty. */
export const toVisibleText = (text: string) => VISIBLE.test(text) ? text.trim() : ''
