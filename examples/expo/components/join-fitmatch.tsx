import { useTandem } from '@tandem/react'
import { TandemError, uploadOf } from '@tandem/sdk'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Button } from './controls.tsx'
import { fileOf, pickPicture } from './files.ts'
import { Icon, Section, Text } from './layout.tsx'
import { useRefresh } from './refresh.ts'
import { Loading, type Loaded } from './states.tsx'

/** While FitMatch loads, and what somebody has to do before they can use it. */
export function LoadingFitMatch ({ of }: { of: Loaded }) {
  const code = of.error instanceof TandemError ? of.error.code : undefined
  if (code === 'PROFILE_NOT_FOUND') return <Join />
  if (code === 'INSUFFICIENT_PHOTOS') return <AddPhotos />
  return <Loading of={of} />
}

/** The profile begins as a copy of the one that people have already. */
function Join () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const router = useRouter()
  const join = async () => {
    await tandem.createFitMatchProfile({ body: {} })
    await refresh()
  }
  return (
    <Section title='Find people to train with'>
      <Icon name='flash-outline' size={40} />
      <Text>Others see your name, age, photos and sports, and a distance, never where you are.</Text>
      <Button title='Show me to others' kind='primary' onPress={join} />
      <Button title='My answers and photos' onPress={() => router.push('/onboarding')} />
    </Section>
  )
}

function AddPhotos () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const [count, setCount] = useState(0)
  const add = async () => {
    const picked = await pickPicture()
    if (!picked) return
    await tandem.addPhoto(uploadOf(fileOf(picked)))
    setCount(count + 1)
    await refresh(['discover'])
  }
  return (
    <Section title='Add two photos'>
      <Icon name='camera-outline' size={40} />
      <Text>People with two photos or more see each other here.</Text>
      <Button title={count === 0 ? 'Add a photo' : 'Add another photo'} kind='primary' onPress={add} />
    </Section>
  )
}
