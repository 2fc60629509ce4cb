/** The operations that accept an Idempotency-Key. */
export const repeatable: ReadonlySet<string> = new Set([
  'POST /activities',
  'POST /activities/{id}/repeat',
  'POST /auth/refresh',
  'POST /buddies/requests',
  'POST /fasting',
  'POST /feed',
  'POST /feed/{id}/comment',
  'POST /feed/{id}/like',
  'POST /fitmatch/chat/{matchId}/messages',
  'POST /fitmatch/photos',
  'POST /fitmatch/profile',
  'POST /fitmatch/profile/venues',
  'POST /fitmatch/report',
  'POST /logs/batch',
  'POST /media',
  'POST /notifications/push/test',
  'POST /onboarding/admin/options',
  'POST /programs',
  'POST /reports',
  'POST /stories',
  'POST /users/{userId}/follow'
])
