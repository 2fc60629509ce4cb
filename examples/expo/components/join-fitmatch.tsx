import { keys, useTandem } from '@tandem/react'
import { TandemError } from '@tandem/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { Button } from './controls.tsx'
import { Icon, Section, Text } from './layout.tsx'
import { Loading } from './states.tsx'

interface Query {
  error: Error | null
  refetch: () => unknown
}

/** While FitMatch loads, and for somebody who has not joined it: the profile begins as a copy of theirs. */
export function LoadingFitMatch ({ of }: { of: Query }) {
  const tandem = useTandem()
  const client = useQueryClient()
  const router = useRouter()
  const { error } = of
  if (!(error instanceof TandemError) || error.code !== 'PROFILE_NOT_FOUND') return <Loading of={of} />
  const join = async () => {
    await tandem.createFitMatchProfile({ body: {} })
    await Promise.all([['discover'], keys.chats, keys.home].map((queryKey) => client.invalidateQueries({ queryKey })))
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
