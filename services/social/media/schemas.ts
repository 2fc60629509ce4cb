import Type from 'typebox'
import { Enum, named } from '@tandem/http-kit'
import { examplePicture, Picture } from '@tandem/media-kit'

/** An uploaded image or video. */
export const Media = named(
  'Media',
  Type.Object({
    ...Picture.properties,
    url: Type.String({ description: 'Use it in mediaUrls of a post and in mediaUrl of a story' }),
    key: Type.String(),
    mediaType: Enum(['IMAGE', 'VIDEO'], {
      description: 'The same as type: the type of the post or story that shows it'
    }),
    mimeType: Type.String(),
    width: Type.Integer(),
    height: Type.Integer(),
    blurhash: Type.String(),
    bytes: Type.Integer()
  }, {
    examples: [{
      ...examplePicture,
      key: 'public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp',
      mediaType: 'IMAGE',
      mimeType: 'image/webp',
      bytes: 18_203
    }]
  })
)
