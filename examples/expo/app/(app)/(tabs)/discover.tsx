import { useTandem } from '@tandem/react'
import { TandemError, type Candidate, type NewMatch } from '@tandem/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Image, View } from 'react-native'
import { Button, Card, Empty, ErrorText, Loading, messageOf, Row, Screen, Text } from '../../../components/ui.tsx'

const queryKey = ['discover']

export default function Discover () {
  const tandem = useTandem()
  const client = useQueryClient()
  const router = useRouter()
  const [match, setMatch] = useState<NewMatch>()
  const [error, setError] = useState('')
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.discoverPeople({ query: { limit: 10 }, signal })).data
  })
  const swipe = async (candidate: Candidate, swipeType: 'PASS' | 'WORKOUT_BUDDY') => {
    setError('')
    try {
      const { data } = await tandem.swipe({ body: { targetProfileId: candidate.id, swipeType } })
      client.setQueryData<typeof query.data>(
        queryKey,
        (known) => known && { ...known, profiles: known.profiles.filter(({ id }) => id !== candidate.id) }
      )
      if (data.match) setMatch(data.match)
    } catch (error) {
      if (error instanceof TandemError && error.code === 'LIMIT_EXCEEDED') router.push('/paywall')
      else setError(messageOf(error))
    }
  }
  if (match) {
    return (
      <Screen title='It’s a match!'>
        <Card style={{ alignItems: 'stretch' }}>
          <Text>{`You and ${match.matchedProfile.displayName} want to train together.`}</Text>
          <Button
            title='Say hello'
            kind='primary'
            onPress={() => {
              setMatch(undefined)
              router.push({ pathname: '/chat/[id]', params: { id: match.matchId } })
            }}
          />
          <Button title='Keep swiping' onPress={() => setMatch(undefined)} />
        </Card>
      </Screen>
    )
  }
  const [candidate] = query.data?.profiles ?? []
  return (
    <Screen title='Discover'>
      {!query.data && <Loading of={query} />}
      {query.data && !candidate && (
        <Empty icon='flash-outline' title='That is everybody'>New people arrive every day.</Empty>
      )}
      {candidate && <CandidateCard candidate={candidate} onSwipe={swipe} />}
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </Screen>
  )
}

function CandidateCard (
  { candidate, onSwipe }: {
    candidate: Candidate,
    onSwipe: (candidate: Candidate, swipeType: 'PASS' | 'WORKOUT_BUDDY') => Promise<void>
  }
) {
  const { displayName, age, bio, city, distance, compatibilityScore, favoriteSports, photos, sharedVenues } = candidate
  const where = [city, distance !== null && `${distance} km`].filter(Boolean).join(' · ')
  return (
    <Card style={{ padding: 0, overflow: 'hidden' }}>
      <Image
        source={photos[0] ? { uri: photos[0].url } : {}}
        alt={displayName}
        style={{ width: '100%', aspectRatio: 0.9 }}
      />
      <View style={{ padding: 16, gap: 8 }}>
        <Row style={{ justifyContent: 'space-between' }}>
          <Text size={22} bold role='heading'>{`${displayName.split(' ')[0]}${age === null ? '' : `, ${age}`}`}</Text>
          <Text bold tone='good'>{`${compatibilityScore} % fit`}</Text>
        </Row>
        {where !== '' && <Text tone='soft'>{where}</Text>}
        {bio !== null && <Text>{bio}</Text>}
        {sharedVenues.length > 0 && (
          <Text tone='good'>{`You both train at ${sharedVenues.map(({ name }) => name).join(' and ')}`}</Text>
        )}
        <Text tone='soft' size={14}>{favoriteSports.map((sport) => sport.replaceAll('_', ' ')).join(' · ')}</Text>
        <Row style={{ justifyContent: 'space-evenly' }}>
          <Button title='Pass' onPress={async () => await onSwipe(candidate, 'PASS')} />
          <Button
            title='Train together'
            kind='primary'
            onPress={async () => await onSwipe(candidate, 'WORKOUT_BUDDY')}
          />
        </Row>
      </View>
    </Card>
  )
}
