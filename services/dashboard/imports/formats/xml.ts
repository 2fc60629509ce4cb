import sax from 'sax'
import { HostileFile } from './entries.ts'

const MAX_DEPTH = 50

export type Attributes = Record<string, string>

interface Handlers {
  onOpen?: (name: string, attributes: Attributes) => void
  /** @param text what the element contains, without the text of its children */
  onClose?: (name: string, text: string) => void
}

/**
 * Reads XML as it comes. Only the entities that XML has itself are known, so none can name a file or multiply. A document
 * type is accepted if it declares none.
 */
export function createXmlReader ({ onOpen, onClose }: Handlers) {
  const parser = sax.parser(true, { trim: true, position: true })
  const texts: string[] = []
  parser.onerror = (error) => {
    throw new HostileFile(error.message)
  }
  parser.ondoctype = (doctype) => {
    if (/<!ENTITY|SYSTEM|PUBLIC|%/i.test(doctype)) throw new HostileFile('The document type declares entities')
  }
  parser.onopentag = ({ name, attributes }) => {
    if (texts.push('') > MAX_DEPTH) throw new HostileFile('The elements are nested too deeply')
    onOpen?.(localName(name), attributes as Attributes)
  }
  parser.ontext = (text) => {
    texts.push((texts.pop() ?? '') + text)
  }
  parser.oncdata = parser.ontext
  parser.onclosetag = (name) => onClose?.(localName(name), texts.pop() ?? '')
  return {
    write: (chunk: string) => void parser.write(chunk),
    close: () => void parser.close(),
    get line() {
      return parser.line + 1
    }
  }
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)
