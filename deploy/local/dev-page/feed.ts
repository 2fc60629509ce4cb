/** What the page shows live. Mails are kept by the mail catcher. */
export interface Feed {
  /** Adds an item and sends it to every open page. */
  add: (topic: Topic, item: object) => void
  /** The newest items, newest first. */
  list: (topic: Topic) => object[]
  /** Calls the listener for each new item. Returns a function that ends it. */
  subscribe: (listener: (topic: Topic, item: object) => void) => () => void
}

export type Topic = 'mails' | 'pushes' | 'events' | 'requests'

const MAX_ITEMS = 300

export function createFeed (): Feed {
  const items = new Map<Topic, object[]>()
  const listeners = new Set<(topic: Topic, item: object) => void>()
  const list = (topic: Topic) => items.get(topic) ?? []
  return {
    list,
    add (topic, item) {
      items.set(topic, [item, ...list(topic)].slice(0, MAX_ITEMS))
      for (const listener of listeners) listener(topic, item)
    },
    subscribe (listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  }
}
