import Type from 'typebox'
import { Enum, named, Nullable } from '@tandem/http-kit'

const Side = Nullable(Type.Integer({ description: 'Pixels, as it is shown; null for what is on another server' }))
const url = 'https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp'

export const examplePicture = {
  type: 'IMAGE' as const,
  url,
  width: 400,
  height: 300,
  blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
  thumbnails: [{ url: `${url}?w=160`, width: 160, height: 120 }, { url: `${url}?w=320`, width: 320, height: 240 }]
}

const Thumbnail = named('Thumbnail', Type.Object({ url: Type.String(), width: Type.Integer(), height: Type.Integer() }))

/** An image or a video as the API returns it. */
export const Picture = named(
  'Picture',
  Type.Object({
    type: Enum(['IMAGE', 'VIDEO']),
    url: Type.String(),
    width: Side,
    height: Side,
    blurhash: Nullable(
      Type.String({ description: 'A placeholder to draw while the image or video loads: https://blurha.sh' })
    ),
    thumbnails: Type.Array(Thumbnail, {
      description: 'Smaller versions of the image, or of the poster of a video, narrowest first: 160, 320, 640 and ' +
        '1080 pixels wide, as far as it is wider'
    }),
    posterUrl: Type.Optional(
      Nullable(Type.String({ description: 'Of a video uploaded here: the image that was uploaded with it' }))
    ),
    durationSeconds: Type.Optional(Type.Number({ description: 'Of a video uploaded here' }))
  }, { examples: [examplePicture] })
)

export type Picture = Type.Static<typeof Picture>
