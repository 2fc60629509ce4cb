// Its types describe the ES module that only bundlers find; Node loads the other one, which has everything in its default.
// oxlint-disable-next-line import/default
import codec from '@googlemaps/polyline-codec'

const EARTH_METERS = 6_371_000
const radians = (degrees: number) => degrees * Math.PI / 180

type Point = [latitude: number, longitude: number]

/** The way as an encoded polyline of five decimals. */
export const encodeRoute = (points: Point[]) => codec.encode(points, 5)

/** How long the way of an encoded polyline is. */
export function routeMeters (route: string) {
  const points = codec.decode(route, 5)
  return points.slice(1).reduce((sum, point, index) => sum + metersBetween(points[index] as Point, point as Point), 0)
}

function metersBetween ([latitude, longitude]: Point, [otherLatitude, otherLongitude]: Point) {
  const [dLatitude, dLongitude] = [radians(otherLatitude - latitude), radians(otherLongitude - longitude)]
  const chord = Math.sin(dLatitude / 2) ** 2 +
    Math.cos(radians(latitude)) * Math.cos(radians(otherLatitude)) * Math.sin(dLongitude / 2) ** 2
  return 2 * EARTH_METERS * Math.asin(Math.sqrt(Math.min(1, chord)))
}
