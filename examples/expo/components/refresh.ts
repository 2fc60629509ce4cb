import { useQueryClient, type QueryKey } from '@tanstack/react-query'

/** Reads again what a change has made old, and waits for what is on the screen. Without keys, everything. */
export function useRefresh () {
  const client = useQueryClient()
  return async (...queryKeys: QueryKey[]) => {
    if (queryKeys.length === 0) return await client.invalidateQueries()
    await Promise.all(queryKeys.map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}
