import Type from 'typebox'
import { Enum, named, Nullable, Text } from '@tandem/http-kit'
import { OPTION_LISTS } from '@tandem/brand-kit'

export const OptionTypeField = named('OnboardingOptionType', Enum(OPTION_LISTS))
export const OptionId = Text({
  max: 50,
  pattern: '^[a-z0-9_]+$',
  expectedFormat: 'optionId',
  examples: ['running']
})
const Labels = Type.Record(Text({ pattern: '^[a-z]{2,3}(-[A-Za-z]{2,4})*$', max: 15 }), Text({ max: 100 }), {
  minProperties: 1,
  description: 'By locale. In a locale without one, the label is the text of the brand'
})
const Icon = Text({
  max: 2_048,
  pattern: '^(https?://[^\\s"<>]+|[^\\s"<>:/.]{1,32})$',
  expectedFormat: 'icon',
  description: 'An emoji or the URL of an image',
  examples: ['🏃']
})
const Category = Nullable(Text({ max: 50 }))
const SortOrder = Type.Integer({ minimum: 0, maximum: 10_000 })

export const exampleOption = {
  type: 'sport',
  optionId: 'running',
  labels: { en: 'Running', id: 'Lari' },
  icon: '🏃',
  category: 'cardio',
  sortOrder: 38
}

export const AdminOption = named(
  'OnboardingOptionDetails',
  Type.Object({
    type: OptionTypeField,
    optionId: Type.String(),
    labels: Type.Record(Type.String(), Type.String(), { description: 'By locale' }),
    icon: Type.String(),
    category: Nullable(Type.String()),
    sortOrder: Type.Integer(),
    isActive: Type.Boolean()
  }, { examples: [{ ...exampleOption, isActive: true }] })
)

/** A new option. */
export const newFields = {
  type: OptionTypeField,
  optionId: OptionId,
  labels: Labels,
  icon: Icon,
  category: Type.Optional(Category),
  sortOrder: Type.Optional(SortOrder)
}

/** What changes of an option; omitted fields stay the same. */
export const changedFields = {
  type: OptionTypeField,
  optionId: OptionId,
  labels: Type.Optional(Labels),
  icon: Type.Optional(Icon),
  category: Type.Optional(Category),
  sortOrder: Type.Optional(SortOrder),
  isActive: Type.Optional(Type.Boolean())
}
