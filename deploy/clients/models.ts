import { readFileSync } from 'node:fs'
import path from 'node:path'
import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core'

export const languages = ['swift', 'kotlin'] as const
export type Language = typeof languages[number]

const documentFile = path.resolve(import.meta.dirname, '../../gateway/openapi.json')
const options: Record<Language, Record<string, string>> = {
  swift: { sendable: 'true', initializers: 'false' },
  kotlin: { framework: 'kotlinx', package: 'tandem' }
}

/** The named schemas of the recorded API document. */
export function readSchemas () {
  const { components } = JSON.parse(readFileSync(documentFile, 'utf8')) as {
    components: { schemas: Record<string, object> }
  }
  return components.schemas
}

/** The source of a type for each named schema of the API, to decode responses with. */
export async function buildModels (language: Language): Promise<string> {
  const schemas = readSchemas()
  const input = new JSONSchemaInput(undefined)
  // One root that has every schema as a property, so that a schema that others use becomes one type.
  const text = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: Object.fromEntries(
      Object.keys(schemas).map((name) => [name, { $ref: `#/components/schemas/${name}` }])
    ),
    // The title is the name of the type, wherever it is used.
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).map(([title, each]) => [title, { title, ...each }]))
    }
  })
  await input.addSource({ name: 'TandemSchemas', schema: text })
  const inputData = new InputData()
  inputData.addInput(input)
  const { lines } = await quicktype({ inputData, lang: language, rendererOptions: options[language] })
  return `${lines.join('\n')}\n`
}
