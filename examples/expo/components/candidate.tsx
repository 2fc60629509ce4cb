import type { Candidate } from '@tandem/sdk'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Image, Pressable, View } from 'react-native'
import { Button } from './controls.tsx'
import { titleOf } from './format.ts'
import { altOf, Card, Row, Text } from './layout.tsx'
import { useTheme } from './theme.ts'

interface CardOptions {
  candidate: Candidate
  onSwipe: (candidate: Candidate, swipeType: 'PASS' | 'WORKOUT_BUDDY') => Promise<void>
}

export function CandidateCard ({ candidate, onSwipe }: CardOptions) {
  const router = useRouter()
  const { id, displayName, age, bio, city, distance, compatibilityScore, favoriteSports, photos, sharedVenues } =
    candidate
  const name = displayName.split(' ')[0] ?? displayName
  const where = [city, distance !== null && `${distance} km`].filter(Boolean).join(' · ')
  return (
    <Card role='article' style={{ padding: 0, overflow: 'hidden' }}>
      <Photos photos={photos} name={displayName} />
      <View style={{ padding: 16, gap: 8 }}>
        <Row style={{ justifyContent: 'space-between' }}>
          <Text size={22} bold role='heading' style={{ flexShrink: 1, minWidth: 0 }}>
            {`${name}${age === null ? '' : `, ${age}`}`}
          </Text>
          <Text bold tone='good'>{`${compatibilityScore} % fit`}</Text>
        </Row>
        {where !== '' && <Text tone='soft'>{where}</Text>}
        {bio !== null && bio !== '' && <Text>{bio}</Text>}
        {sharedVenues.length > 0 && (
          <Text tone='good'>{`✓ You both train at ${sharedVenues.map(({ name }) => name).join(' and ')}`}</Text>
        )}
        <Text tone='soft' size={14}>{favoriteSports.map(titleOf).join(' · ')}</Text>
        <Row style={{ justifyContent: 'space-evenly' }}>
          <Button title='Pass' onPress={async () => await onSwipe(candidate, 'PASS')} />
          <Button
            title='Train together'
            kind='primary'
            onPress={async () => await onSwipe(candidate, 'WORKOUT_BUDDY')}
          />
        </Row>
        <Pressable
          role='button'
          onPress={() => router.push({ pathname: '/report', params: { profileId: id, name } })}
          style={{ alignSelf: 'center', padding: 10 }}
        >
          <Text tone='soft' size={14}>Report</Text>
        </Pressable>
      </View>
    </Card>
  )
}

/** A touch shows the next one. */
function Photos ({ photos, name }: { photos: Candidate['photos'], name: string }) {
  const theme = useTheme()
  const [index, setIndex] = useState(0)
  const photo = photos[index]
  return (
    <Pressable
      role='button'
      aria-label='Next photo'
      onPress={() => setIndex((index + 1) % Math.max(1, photos.length))}
    >
      <Image
        source={photo ? { uri: photo.url } : {}}
        {...altOf(name)}
        style={{ width: '100%', aspectRatio: 1, maxHeight: 440, backgroundColor: theme.field }}
      />
      <Row style={{ position: 'absolute', top: 10, left: 10, right: 10, gap: 4 }}>
        {photos.length > 1 && photos.map(({ url }, at) => (
          <View
            key={url}
            style={{ flex: 1, height: 3, borderRadius: 2, backgroundColor: at === index ? '#fff' : '#fff6' }}
          />
        ))}
      </Row>
    </Pressable>
  )
}
