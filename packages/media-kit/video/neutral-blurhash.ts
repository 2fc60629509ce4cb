import { decode, encode, isBlurhashValid } from 'blurhash'

const GREY = encode(new Uint8ClampedArray([138, 143, 152, 255]), 1, 1, 1, 1)
// Of 255. Darker, it would look like a video that does not load.
const MIN_BRIGHTNESS = 48

/**
 * The placeholder of a video without a poster: the average colour of a picture, such as its author's, or grey.
 * @param picture the blurhash of the picture
 */
export function neutralBlurhash (picture: string | null | undefined) {
  if (!picture || !isBlurhashValid(picture).result) return GREY
  // One area, no changes, and the average, which stands in the characters 2 to 5 of every blurhash.
  const average = `00${picture.slice(2, 6)}`
  const [red = 0, green = 0, blue = 0] = decode(average, 1, 1)
  return Math.max(red, green, blue) < MIN_BRIGHTNESS ? GREY : average
}
