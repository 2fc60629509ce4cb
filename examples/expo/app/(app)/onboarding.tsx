import { useTandem } from '@tandem/react'
import type { Profile } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Platform, Pressable } from 'react-native'
import { useBack } from '../../components/back.ts'
import { Button, Field, IconButton, Segments } from '../../components/controls.tsx'
import { Card, ErrorText, Row, Screen, Text } from '../../components/layout.tsx'
import { PhotosStep } from '../../components/photos-step.tsx'
import { useProfile } from '../../components/profile.ts'
import { useRefresh } from '../../components/refresh.ts'
import { Loading } from '../../components/states.tsx'
import { useTheme } from '../../components/theme.ts'

const genders = { FEMALE: 'Woman', MALE: 'Man', OTHER: 'Other' } as const

/** Four steps: who they are, their photos, what they like, what the app can do. */
export default function Onboarding () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const router = useRouter()
  const [step, setStep] = useState(0)
  const finish = async (location?: Location) => {
    await tandem.savePermissions({ body: { locationEnabled: !!location, pushNotifications: true, ...location } })
    await refresh()
    router.replace('/')
  }
  if (step === 0) return <AboutYou onDone={() => setStep(1)} />
  if (step === 1) return <PhotosStep onDone={() => setStep(2)} />
  if (step === 2) return <Sports onDone={() => setStep(3)} />
  return <NearYou onDone={finish} />
}

interface Location {
  latitude: number
  longitude: number
}

// A phone asks for it with expo-location.
const canLocate = Platform.OS === 'web' && 'geolocation' in navigator

const locate = async () =>
  await new Promise<Location | undefined>((resolve) =>
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude } }) => resolve({ latitude, longitude }),
      () => resolve(undefined)
    )
  )

function NearYou ({ onDone }: { onDone: (location?: Location) => Promise<void> }) {
  const [isDenied, setDenied] = useState(false)
  const share = async () => {
    const location = await locate()
    setDenied(!location)
    if (location) await onDone(location)
  }
  return (
    <Screen title='Near you'>
      <Card>
        <Text>With your location, you see people and places nearby. Others see a distance, never where you are.</Text>
        {isDenied && <ErrorText>Your browser does not say where you are. Allow it, or go on without.</ErrorText>}
        {canLocate && <Button title='Use my location' kind='primary' onPress={share} />}
        <Button title='Not now' onPress={async () => await onDone()} />
      </Card>
    </Screen>
  )
}

/** Also for who only looks at their answers. */
const Leave = () => <IconButton icon='close' label='Close' onPress={useBack()} />

/** Begins with what they have said before. */
function AboutYou ({ onDone }: { onDone: () => void }) {
  const query = useProfile()
  if (query.data) return <AboutYouForm profile={query.data} onDone={onDone} />
  return (
    <Screen title='About you' action={<Leave />}>
      <Loading of={query} />
    </Screen>
  )
}

function AboutYouForm ({ profile, onDone }: { profile: Profile, onDone: () => void }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const [name, setName] = useState(profile.name)
  const [birthDate, setBirthDate] = useState(profile.birthDate?.slice(0, 10) ?? '')
  const [gender, setGender] = useState(profile.gender ?? undefined)
  const save = async () => {
    await tandem.saveOnboardingProfile({
      body: { communityRulesAccepted: true, name: name.trim(), birthDate, ...gender && { gender }, completed: true }
    })
    await refresh(['profile'])
    onDone()
  }
  return (
    <Screen title='About you' action={<Leave />}>
      <Card>
        <Field label='Name' value={name} onChangeText={setName} autoComplete='name' />
        <Field
          label='Birthday'
          placeholder='1996-04-12'
          value={birthDate}
          onChangeText={setBirthDate}
          inputMode='numeric'
          maxLength={10}
        />
        <Segments options={genders} value={gender} onChange={setGender} />
        <Text tone='soft' size={14}>Be kind, be honest, no insults: by going on you accept the community rules.</Text>
        <Button
          title='Continue'
          kind='primary'
          onPress={save}
          isDisabled={name.trim().length < 2 || !/^\d{4}-\d\d-\d\d$/.test(birthDate) || gender === undefined}
        />
      </Card>
    </Screen>
  )
}

function Sports ({ onDone }: { onDone: () => void }) {
  const tandem = useTandem()
  const theme = useTheme()
  const { data: profile } = useProfile()
  const [changed, setChanged] = useState<string[]>()
  const chosen = changed ?? profile?.favoriteSports ?? []
  const query = useQuery({
    queryKey: ['sports'],
    queryFn: async () => (await tandem.listOnboardingOptions({ query: { type: 'sport' } })).options
  })
  const toggle = (value: string) =>
    setChanged(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
  const save = async () => {
    await tandem.savePreferences({ body: { favoriteSports: chosen, completed: true } })
    onDone()
  }
  return (
    <Screen title='What do you like?' action={<Leave />}>
      <Card>
        {!query.data && <Loading of={query} />}
        <Row style={{ flexWrap: 'wrap', gap: 8 }}>
          {query.data?.map(({ optionId, label }) => {
            const isChosen = chosen.includes(optionId)
            return (
              <Pressable
                key={optionId}
                role='checkbox'
                aria-checked={isChosen}
                onPress={() => toggle(optionId)}
                style={{
                  backgroundColor: isChosen ? theme.accent : theme.field,
                  borderRadius: 999,
                  paddingVertical: 10,
                  paddingHorizontal: 16
                }}
              >
                <Text tone={isChosen ? 'onAccent' : 'text'}>{label}</Text>
              </Pressable>
            )
          })}
        </Row>
        <Button title='Continue' kind='primary' onPress={save} isDisabled={chosen.length === 0} />
      </Card>
    </Screen>
  )
}
