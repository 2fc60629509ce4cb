import Type from 'typebox'
import { Enum, named, Nullable } from '@tandem/http-kit'

const Side = Nullable(Type.Integer({ description: 'Pixels; null for an image on another server' }))
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

/** An image, or a video on another server, as the API returns it. */
export const Picture = named(
  'Picture',
  Type.Object({
    type: Enum(['IMAGE', 'VIDEO']),
    url: Type.String(),
    width: Side,
    height: Side,
    blurhash: Nullable(Type.String({ description: 'A placeholder to draw while the image loads: https://blurha.sh' })),
    thumbnails: Type.Array(Thumbnail, {
      description: 'Smaller versions, narrowest first: 160, 320, 640 and 1080 pixels wide, as far as the image is wider'
    })
  }, { examples: [examplePicture] })
)

export type Picture = Type.Static<typeof Picture>
