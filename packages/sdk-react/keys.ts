/** The query keys of the cache, to invalidate what a request of your own changes. */
export const keys = {
  chats: ['tandem', 'chats'],
  chat: (matchId: string) => ['tandem', 'chat', matchId],
  allChats: ['tandem', 'chat'],
  comments: (postId: string) => ['tandem', 'comments', postId],
  feeds: ['tandem', 'feed'],
  feed: (filter: object) => ['tandem', 'feed', filter],
  /** Keys below it, such as `[...keys.home, 'goals']`, are read again with it: for what logs change. */
  home: ['tandem', 'home'],
  notifications: ['tandem', 'notifications'],
  posts: ['tandem', 'post'],
  post: (id: string) => ['tandem', 'post', id],
  waiting: ['tandem', 'waiting']
}
