import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'

/** What the person has said about themselves. */
export function useProfile () {
  const tandem = useTandem()
  return useQuery({
    queryKey: ['profile'],
    queryFn: async ({ signal }) => (await tandem.getProfile({ signal })).data.profile
  })
}
