import Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { Body, ClientDetail, ClientUrl, Enum, named, offered, Text } from '@tandem/http-kit'
import { storyMediaTypes } from '../tables.ts'

const Color = Text({
  max: 9,
  pattern: '^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$',
  expectedFormat: 'color',
  description: 'Hexadecimal'
})

/** Without VIDEO while that feature is off. */
export const newStory = () =>
  named(
    'NewStory',
    Body({
      mediaUrl: ClientUrl,
      mediaType: Enum(offered(storyMediaTypes, { VIDEO: 'video' })),
      caption: Type.Optional(Text({ min: 0, max: 500 })),
      textColor: Type.Optional(Color),
      bgColor: Type.Optional(Color),
      fontStyle: Type.Optional(ClientDetail({ max: 50 })),
      duration: Type.Optional(Type.Number({
        minimum: 1,
        maximum: readLimits().storyVideoSeconds,
        description: 'Seconds; only for a VIDEO. Of a video that was uploaded here, it is known'
      }))
    }, {
      examples: [{
        mediaUrl: 'https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp',
        mediaType: 'IMAGE',
        caption: 'At the top',
        textColor: '#ffffff'
      }]
    })
  )
