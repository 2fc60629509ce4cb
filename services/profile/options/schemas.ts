import Type from 'typebox'
import { Enum, named, Nullable, Text } from '@tandem/http-kit'
import { optionTypes } from '../tables.ts'

export const OptionTypeField = named('OnboardingOptionType', Enum(optionTypes))
export const OptionId = Text({
  max: 50,
  pattern: '^[a-z0-9_]+$',
  expectedFormat: {
    en: 'must have 1 to 50 lowercase letters, digits or underscores',
    id: 'harus terdiri dari 1 sampai 50 huruf kecil, angka, atau garis bawah'
  },
  examples: ['running']
})
const Label = Text({ max: 100 })
const Icon = Text({
  max: 2_048,
  pattern: '^(https?://[^\\s"<>]+|[^\\s"<>:/.]{1,32})$',
  expectedFormat: {
    en: 'must be an emoji or the URL of an image',
    id: 'harus berupa emoji atau URL gambar'
  },
  description: 'An emoji or the URL of an image',
  examples: ['🏃']
})
const Category = Nullable(Text({ max: 50 }))
const SortOrder = Type.Integer({ minimum: 0, maximum: 10_000 })

export const exampleOption = {
  type: 'sport',
  optionId: 'running',
  labelEn: 'Running',
  labelId: 'Lari',
  icon: '🏃',
  category: 'cardio',
  sortOrder: 38
}

export const AdminOption = named(
  'OnboardingOptionDetails',
  Type.Object({
    type: OptionTypeField,
    optionId: Type.String(),
    labelEn: Type.String(),
    labelId: Type.String(),
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
  labelEn: Label,
  labelId: Label,
  icon: Icon,
  category: Type.Optional(Category),
  sortOrder: Type.Optional(SortOrder)
}

/** What changes of an option; omitted fields stay the same. */
export const changedFields = {
  type: OptionTypeField,
  optionId: OptionId,
  labelEn: Type.Optional(Label),
  labelId: Type.Optional(Label),
  icon: Type.Optional(Icon),
  category: Type.Optional(Category),
  sortOrder: Type.Optional(SortOrder),
  isActive: Type.Optional(Type.Boolean())
}
