import type { Brand } from '@tandem/brand-kit'
import { BASE_PATH } from '../routes.ts'

/** The introduction of the API document: what an app needs to know before its first request. */
export const apiGuideOf = ({ name, locales }: Pick<Brand, 'name' | 'locales'>) =>
  `
The API of ${name} for mobile apps. All paths are below \`${BASE_PATH}\`. Requests and responses are JSON in UTF-8.

## Sign in and refresh

1. \`POST /auth/register\` or \`POST /auth/login\` returns an \`accessToken\`, valid for 15 minutes, and a \`refreshToken\`,
   valid for 30 days. Keep both in the secure storage of the device.
2. Send \`Authorization: Bearer <accessToken>\` with every operation that shows a lock.
3. On \`401 INVALID_ACCESS_TOKEN\`, or shortly before the token expires, call \`POST /auth/refresh\` once, store both new
   tokens, and repeat the request. Send an \`Idempotency-Key\` with the refresh: if its response is lost, the same
   request can be repeated for 60 seconds. Without a key, a refresh token that is used again ends the session.
4. On \`401 INVALID_REFRESH_TOKEN\`, show the sign-in screen. Never sign out on a 503 or on a network error.

## Responses and errors

A success is \`{"success": true, "data": …}\`; a few older operations have fields beside \`success\` in place of \`data\`.
An error is \`{"success": false, "error": "…", "code": "…"}\`. Branch on \`code\`; every operation lists its codes. Show
\`error\` to people. Codes can be added, so handle an unknown one by its status. Errors about fields also have \`details\`:
one entry per field, with \`field\` and \`message\`. Fields that you send by mistake are ignored, and the response header
\`x-ignored-fields\` names them. Add the response header \`x-request-id\` to bug reports.

## Pages

Lists take \`limit\` (20 by default, 50 at most) and \`cursor\`. Send the \`nextCursor\` of a page as the \`cursor\` of the next
request; it is null on the last page. A cursor is opaque and belongs to its list and filters.

## Safe repeats

Mobile networks lose responses. Operations with the header \`Idempotency-Key\` can be repeated: choose a new UUID for each
action of the person, and send the same one with each repeat. A repeat within 24 hours gets the response of the first
request. The same key with another body is \`409 IDEMPOTENCY_CONFLICT\`. GET requests can always be repeated, and
\`POST /logs/batch\` recognizes each log by its \`clientId\`.

## Limits

A limited request is \`429 RATE_LIMITED\`, or \`429 LIMIT_EXCEEDED\` for a daily quota. Wait as many seconds as the header
\`Retry-After\` says; a 503 has it too. Routes with a limit per address report it in \`x-ratelimit-limit\`,
\`x-ratelimit-remaining\` and \`x-ratelimit-reset\`. \`GET /meta\` lists the limits. Bodies are limited to 64 KiB, except
uploads.

## Uploads

Send one image as \`multipart/form-data\`: JPEG, PNG or WebP, at most 5 MB and 40 million pixels. The server turns it
upright, scales it down, removes its metadata (also the place where it was taken), and returns its URL. Use that URL in a
post, a story or a profile. An image that nothing uses within a day is deleted.

## Time zones and languages

Times are ISO 8601 in UTC, such as \`2026-03-14T07:30:00.000Z\`; requests accept any offset. Days, streaks and daily
quotas follow the time zone of the profile: set \`timezone\` in \`PUT /profile\`. Send \`Accept-Language\` (${
    locales.map((each) => `\`${each}\``).join(' or ')
  }): texts,
option labels and errors follow it.

## Caching

Responses with an \`ETag\` can be revalidated with \`If-None-Match\`. JSON of more than 1 KiB is compressed for clients that
accept gzip. Images never change under their URL.
`.trim()
