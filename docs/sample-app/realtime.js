import { useEffect } from 'preact/hooks'
import { tandem } from './api.js'

const reloads = new Set()
let opened

/** The connection of the signed-in person, opened when it is first needed. */
const realtime = () => opened ??= tandem.connectRealtime({ onReload: () => reloads.forEach((reload) => reload()) })

// A phone or a laptop that wakes up may have lost its connection without noticing.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) opened?.wake()
})

/** Calls `listener` with each frame of these types. */
export function useFrames (types, listener) {
  useEffect(() => {
    const stops = types.map((type) => realtime().on(type, listener))
    return () => stops.forEach((stop) => stop())
  }, [listener])
}

/** Reloads what a page shows after frames of these types, once for several at a time. */
export function useReloads (types, reload) {
  useEffect(() => {
    let timer
    const reloadSoon = () => {
      clearTimeout(timer)
      timer = setTimeout(() => void reload(), 200)
    }
    const stops = types.map((type) => realtime().on(type, reloadSoon))
    reloads.add(reloadSoon)
    return () => {
      clearTimeout(timer)
      stops.forEach((stop) => stop())
      reloads.delete(reloadSoon)
    }
  }, [reload])
}

/** Tells the server which chat is on the screen, and follows whether the other person is online. */
export function useChatOnScreen (matchId) {
  useEffect(() => {
    realtime().focus(matchId)
    realtime().watch([matchId])
    return () => {
      realtime().focus(null)
      realtime().watch([])
    }
  }, [matchId])
}
