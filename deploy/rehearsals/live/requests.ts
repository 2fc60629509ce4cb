/**
 * Sends requests one after another until it is stopped, to the first gateway that accepts connections, as a load
 * balancer does. @returns their times in milliseconds, and the failures
 */
export function measureRequests (urls: string[], token: string) {
  const times: number[] = []
  let failures = 0
  let isStopped = false
  const running = (async () => {
    while (!isStopped) {
      const startedAt = performance.now()
      if (await fetchFeed(urls, token) !== 200) failures++
      times.push(performance.now() - startedAt)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return async () => {
    isStopped = true
    await running
    return { times, failures }
  }
}

async function fetchFeed ([url, ...others]: string[], token: string): Promise<number> {
  try {
    const response = await fetch(`${url}/api/mobile/v1/feed`, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    return response.status
  } catch (error) {
    const { code } = (error as { cause?: { code?: string } }).cause ?? {}
    return code === 'ECONNREFUSED' && others.length > 0 ? await fetchFeed(others, token) : 0
  }
}
