import AsyncStorage from '@react-native-async-storage/async-storage'
import { createTandem, secureStorageIn, storageIn, type OutboxEntry, type Tandem, type Tokens } from '@tandem/sdk'
import Constants from 'expo-constants'
import * as SecureStore from 'expo-secure-store'
import { use } from 'react'
import { Platform } from 'react-native'

const listeners = new Set<() => void>()

/** Calls `listener` when the session has ended on the server. @returns a function that stops it */
export function onSignedOut (listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Where likes, comments, messages and logs wait while there is no network. */
export const outboxStorage = storageIn<OutboxEntry[]>(AsyncStorage, 'outbox')

const opening = open()

/** The client of the API, before the sign-in too. */
export const useApi = () => use(opening)

async function open (): Promise<Tandem> {
  return createTandem({
    url: await findServer(),
    // A browser has no keychain.
    storage: Platform.OS === 'web' ? storageIn<Tokens>(AsyncStorage) : secureStorageIn<Tokens>(SecureStore),
    onSignedOut: () => listeners.forEach((listener) => listener())
  })
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
