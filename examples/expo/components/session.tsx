import { useQueryClient } from '@tanstack/react-query'
import { createContext, useCallback, useContext, useEffect, useState, type ReactNode } from 'react'
import { Platform } from 'react-native'
import { onSignedOut, TOKENS_KEY, useApp } from './api.ts'
import { Loading } from './states.tsx'

interface Session {
  isSignedIn: boolean
  signedIn: () => void
  signOut: () => Promise<void>
  /** Of an account that was deleted on this device: when it is erased. */
  eraseAt: string | undefined
  /** Its sessions have ended. */
  deleted: (eraseAt: string) => Promise<void>
}

const Context = createContext<Session | undefined>(undefined)

/** Whether somebody is signed in on this device. */
export function SessionProvider ({ children }: { children: ReactNode }) {
  const { tandem } = useApp()
  const client = useQueryClient()
  const [isSignedIn, setSignedIn] = useState<boolean>()
  const [eraseAt, setEraseAt] = useState<string>()
  const signedOut = useCallback(() => {
    // Nobody else sees it.
    client.clear()
    setSignedIn(false)
  }, [client])
  useEffect(() => {
    // A keychain that cannot be read, as after a restored backup, has no session.
    void tandem.isSignedIn().then(setSignedIn, () => setSignedIn(false))
    return onSignedOut(signedOut)
  }, [tandem, signedOut])
  // Another tab of the page has signed in or out.
  useEffect(() => {
    if (Platform.OS !== 'web') return
    const follow = ({ key, newValue }: StorageEvent) => {
      if (key !== TOKENS_KEY) return
      if (newValue === null) signedOut()
      else setSignedIn(true)
    }
    addEventListener('storage', follow)
    return () => removeEventListener('storage', follow)
  }, [signedOut])
  // Texts of another language.
  useEffect(() => () => client.clear(), [tandem, client])
  if (isSignedIn === undefined) return <Loading />
  const signOut = async () => {
    // Offline, the tokens of this device are removed all the same.
    await tandem.signOut({ body: {} }).catch(async () => await tandem.forget())
    signedOut()
  }
  const deleted = async (eraseAt: string) => {
    setEraseAt(eraseAt)
    await tandem.forget()
    signedOut()
  }
  const signedIn = () => {
    setEraseAt(undefined)
    setSignedIn(true)
  }
  return <Context.Provider value={{ isSignedIn, signedIn, signOut, eraseAt, deleted }}>{children}</Context.Provider>
}

export function useSession () {
  const session = useContext(Context)
  if (!session) throw new Error('useSession needs a SessionProvider')
  return session
}
