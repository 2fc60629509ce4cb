import AsyncStorage from '@react-native-async-storage/async-storage'
import { createTandem, secureStorageIn, storageIn, type Meta, type OutboxEntry, type Tokens } from '@tandem/sdk'
import Constants from 'expo-constants'
import * as SecureStore from 'expo-secure-store'
import { use, useSyncExternalStore } from 'react'
import { Platform } from 'react-native'

export const TOKENS_KEY = 'tandem'

const signOuts = new Set<() => void>()

/** Calls `listener` when the session has ended on the server. @returns a function that stops it */
export function onSignedOut (listener: () => void) {
  signOuts.add(listener)
  return () => void signOuts.delete(listener)
}

/** Where likes, comments, messages and logs wait while there is no network. */
export const outboxStorage = storageIn<OutboxEntry[]>(AsyncStorage, 'outbox')

const storedBrand = storageIn<Meta>(AsyncStorage, 'brand')
const storedLanguage = storageIn<string>(AsyncStorage, 'language')
const reopenings = new Set<() => void>()
let opening = open()

/** The client of the API, the brand and the language, before the sign-in too. */
export const useApp = () => use(useSyncExternalStore(subscribe, () => opening))

/** Whether the brand has a feature, such as `stories`: its operations answer 404 otherwise. */
export const useFeature = (name: string) => useApp().brand.features[name] !== false

function subscribe (listener: () => void) {
  reopenings.add(listener)
  return () => void reopenings.delete(listener)
}

/** After the server could not be reached, or in another language. */
export function reopen () {
  opening = open()
  for (const listener of reopenings) listener()
}

export async function setLanguage (language: string) {
  await storedLanguage.write(language)
  reopen()
}

async function open () {
  const url = await findServer()
  const brand = await readBrand(url)
  const wished = await storedLanguage.read() ?? Intl.DateTimeFormat().resolvedOptions().locale
  const language = brand.locales.find((each) => wished.split('-')[0] === each.split('-')[0]) ?? brand.locales[0] ?? 'en'
  const tandem = createTandem({
    url,
    language,
    // A browser has no keychain.
    storage: Platform.OS === 'web'
      ? storageIn<Tokens>(AsyncStorage, TOKENS_KEY)
      : secureStorageIn<Tokens>(SecureStore, TOKENS_KEY),
    onSignedOut: () => signOuts.forEach((listener) => listener())
  })
  return { tandem, brand, language }
}

/** The name, the colours and the languages of the app. Those of the last start are there without a network, too. */
async function readBrand (url: string) {
  const known = await storedBrand.read()
  const fresh = createTandem({ url }).getMeta().then(async ({ data }) => {
    await storedBrand.write(data)
    return data
  })
  if (!known) return await fresh
  fresh.catch(() => {})
  return known
}

/** The gateway: of the build, of the server of the page (`npm run demo`), or of the machine that runs Expo. */
async function findServer () {
  const configured = process.env.EXPO_PUBLIC_API_URL
  if (configured !== undefined) return configured
  if (Platform.OS === 'web' && !__DEV__) {
    const response = await fetch('/config.json')
    return (await response.json() as { gateway: string }).gateway
  }
  const host = Platform.OS === 'web' ? location.hostname : Constants.expoConfig?.hostUri?.split(':')[0]
  return `http://${host ?? '127.0.0.1'}:8080`
}
