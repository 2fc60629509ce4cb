type ErrorClass = new(...args: never[]) => Error

/** The names of the error classes among the exports of a module. */
export type ErrorNames<Module> = {
  [Name in keyof Module]: Module[Name] extends ErrorClass ? Name : never
}[keyof Module]

interface Translation {
  /** Matches the English message; a group for each of its values. */
  pattern: RegExp
  text: string
}

const indonesian = new WeakMap<object, Translation>()
const PLACEHOLDER = /%[sd]/g

/**
 * Gives each error class of a module its Indonesian text, which http-kit sends to clients that prefer it. `%s` and `%d`
 * stand for the same values as in the English message, in the same order.
 */
export function translateErrors<Module extends object> (
  classes: Module,
  texts: Readonly<Record<ErrorNames<Module> & string, string>>
) {
  for (const [name, text] of Object.entries<string>(texts)) {
    const ErrorClass = (classes as Record<string, unknown>)[name] as new() => Error
    // Without values, the message still has its placeholders.
    const parts = new ErrorClass().message.split(PLACEHOLDER).map((part) => RegExp.escape(part))
    indonesian.set(ErrorClass, { pattern: new RegExp(`^${parts.join('(.*)')}$`, 's'), text })
  }
}

/** The Indonesian text of an error; undefined if its class has none. */
export function inIndonesian (error: Error): string | undefined {
  for (let at: object | null = error; at; at = Object.getPrototypeOf(at) as object | null) {
    const translation = indonesian.get(at.constructor)
    const [, ...values] = translation?.pattern.exec(error.message) ?? []
    if (translation) return translation.text.replace(PLACEHOLDER, () => values.shift() ?? '')
  }
}
