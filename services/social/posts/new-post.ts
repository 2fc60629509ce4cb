import Type from 'typebox'
import type { Feature } from '@tandem/brand-kit'
import { Body, ClientDetail, ClientUrl, Enum, named, offered, partOfFeature, Text } from '@tandem/http-kit'
import { postTypes, visibilities, type PostType } from '../tables.ts'

export const Content = Text({ min: 0, max: 5_000, description: 'With #hashtags and @mentions' })
const LinkedId = (description: string) => Text({ min: 0, max: 200, description })
const DateOrDateTime = Type.Unsafe<string>({
  type: 'string',
  // As Instant and IsoDate, whose type the document says once.
  anyOf: [{ instant: true, format: 'date-time' }, { transform: ['trim'], format: 'date' }]
})

const featureOfType: Partial<Record<PostType, Feature>> = { VIDEO: 'video', POLL: 'polls', ACTIVITY: 'activities' }

/** What a post of an activity has. */
export const linkedActivity = {
  activityId: Type.Optional(LinkedId('An activity that you take part in. Only its host shows others the place'))
}
export const pollFields = {
  pollQuestion: Type.Optional(
    Text({
      min: 0,
      max: 500,
      description: 'Only for a POLL. Defaults to the content.',
      examples: ['When should we run?']
    })
  ),
  pollOptions: Type.Optional(
    Type.Array(Body({ text: Text({ max: 200, examples: ['At dawn'] }) }), {
      maxItems: 10,
      description: 'Only for a POLL: 2 to 10 options, all different'
    })
  ),
  pollEndsAt: Type.Optional({
    ...DateOrDateTime,
    description: "At most a year ahead. A date means the end of that day in the author's time zone.",
    examples: ['2026-12-01']
  })
}

/** Without the types of features that are off. */
export const newPost = () =>
  named(
    'NewPost',
    Body({
      type: Enum(offered(postTypes, featureOfType)),
      content: Type.Optional(Content),
      visibility: Enum(visibilities, { default: 'PUBLIC' }),
      mediaUrls: Type.Optional(Type.Array(ClientUrl, { maxItems: 10 })),
      mediaType: Type.Optional(ClientDetail({ max: 100, description: 'A MIME type' })),
      ...partOfFeature('activities', linkedActivity),
      workoutId: Type.Optional(LinkedId('A log of yours')),
      achievementId: Type.Optional(LinkedId('An achievement of yours, from `GET /achievements`')),
      ...partOfFeature('polls', pollFields),
      locationName: Type.Optional(Text({ min: 0, max: 200 })),
      latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
      longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
    }, {
      examples: [{
        type: 'IMAGE',
        content: 'Morning run with @ben #running',
        visibility: 'PUBLIC',
        mediaUrls: ['https://cdn.example.com/public/1b4e28ba-2fa1-41d2-883f-0016d3cca427.webp'],
        mediaType: 'image/webp',
        locationName: 'Lapangan Gasibu',
        latitude: -6.9,
        longitude: 107.62
      }]
    })
  )
