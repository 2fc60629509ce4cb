import { serviceNames } from '../../gateway/routes.ts'

/** A rehearsal of one alert: time series in the notation of promtool, a sample each minute. */
interface AlertCase {
  /** The alert fires at `atMinutes`. */
  fires: Record<string, string>
  atMinutes: number
  /** The same series in a healthy system: it does not fire. */
  healthy: Record<string, string>
}

const requests = (failed: string) => ({
  'http_request_duration_seconds_count{job="social", status_code="200"}': '0+600x60',
  'http_request_duration_seconds_count{job="social", status_code="503"}': failed
})
const durations = (fast: string) => ({
  'http_request_duration_seconds_bucket{job="social", le="1"}': fast,
  'http_request_duration_seconds_bucket{job="social", le="2.5"}': '0+600x60',
  'http_request_duration_seconds_bucket{job="social", le="+Inf"}': '0+600x60'
})
const pushDelays = (fast: string) => ({
  'notification_push_delay_seconds_bucket{priority="high", le="60"}': fast,
  'notification_push_delay_seconds_bucket{priority="high", le="300"}': '0+100x60',
  'notification_push_delay_seconds_bucket{priority="high", le="+Inf"}': '0+100x60'
})
const handled = (failed: string) => ({
  'bus_events_handled_total{type="a.b.c.v1", outcome="done"}': '0+100x60',
  'bus_events_handled_total{type="a.b.c.v1", outcome="failed"}': failed
})
const signIns = (failed: string) => ({
  'identity_security_events_total{kind="SIGN_IN"}': '0+10x60',
  'identity_security_events_total{kind="SIGN_IN_FAILED"}': failed
})
const pushes = (refused: string) => ({
  'notification_pushes_total{outcome="sent"}': '0+100x60',
  'notification_pushes_total{outcome="refused"}': refused
})
const consumer = (acknowledged: string) => ({
  'bus_consumer_lag{service="social", from="identity"}': '5x60',
  'bus_consumer_acknowledged_seq{service="social", from="identity"}': acknowledged
})
const hookAnswers = (unanswered: string) => ({
  'hook_questions_total{job="social", hook="before-post", outcome="allow"}': '0+60x60',
  'hook_questions_total{job="social", hook="before-post", outcome="unanswered"}': unanswered
})
const realtimeDelays = (fast: string) => ({
  'gateway_realtime_delay_seconds_bucket{le="1"}': fast,
  'gateway_realtime_delay_seconds_bucket{le="5"}': '0+600x60',
  'gateway_realtime_delay_seconds_bucket{le="+Inf"}': '0+600x60'
})
const realtimeOpened = (outcome: string, count: string) => ({
  'gateway_realtime_opened_total{outcome="resumed"}': '0+100x60',
  [`gateway_realtime_opened_total{outcome="${outcome}"}`]: count
})
const realtimeConnections = (count: string) => ({
  'gateway_realtime_connections{instance="a", transport="websocket"}': count,
  'gateway_realtime_connections{instance="a", transport="sse"}': '100x60',
  'gateway_realtime_max_connections{instance="a"}': '10000x60'
})
const GIBIBYTE = 2 ** 30
const names = ['gateway', 'streams', ...serviceNames]
const everyProcess = (social: string) =>
  Object.fromEntries(names.map((name) => [`up{job="${name}", instance="1"}`, name === 'social' ? social : '1x60']))
const one = (series: string, atMinutes: number, firing: string, healthy: string): AlertCase => ({
  fires: { [series]: firing },
  atMinutes,
  healthy: { [series]: healthy }
})

/** A case for every alert, by its name. */
export const alertCases: Record<string, AlertCase> = {
  RequestsFail: { fires: requests('0+30x60'), atMinutes: 15, healthy: requests('0+1x60') },
  RequestsSlow: { fires: durations('0+500x60'), atMinutes: 20, healthy: durations('0+599x60') },
  BreakerOpen: one('gateway_breaker_open{service="social"}', 3, '1x60', '0x60'),
  UpstreamFailures: one('gateway_upstream_failures_total{service="social"}', 15, '0+90x60', '0+6x60'),
  LimitsCountedAlone: one('gateway_limits_local', 7, '1x60', '0x60'),
  HooksUnanswered: { fires: hookAnswers('0+20x60'), atMinutes: 15, healthy: hookAnswers('0+1x60') },
  RealtimeSlow: { fires: realtimeDelays('0+500x60'), atMinutes: 15, healthy: realtimeDelays('0+599x60') },
  RealtimeRefused: {
    fires: realtimeOpened('refused', '0+20x60'),
    atMinutes: 15,
    healthy: realtimeOpened('refused', '0+2x60')
  },
  RealtimeNotResumed: {
    fires: realtimeOpened('reset', '0+50x60'),
    atMinutes: 30,
    healthy: realtimeOpened('reset', '0+10x60')
  },
  RealtimeFull: { fires: realtimeConnections('8500x60'), atMinutes: 10, healthy: realtimeConnections('8000x60') },
  ProcessDown: one('up{job="gateway-realtime", instance="1"}', 4, '0x60', '1x60'),
  // The target is gone after ten minutes: its series ends.
  DeploymentGone: { fires: everyProcess('1x10 _x50'), atMinutes: 20, healthy: everyProcess('1x60') },
  DependencyDown: one('health_check_failing{job="gateway", check="identity.mail"}', 7, '1x60', '1x2 0x57'),
  // Ahead, and less so behind.
  ClockSkewed: one('process_clock_skew_seconds{job="social", instance="1"}', 8, '-120x60', '2x60'),
  PodsAtMaximum: {
    fires: {
      'kube_horizontalpodautoscaler_status_current_replicas{namespace="tandem", horizontalpodautoscaler="social"}':
        '6x60',
      'kube_horizontalpodautoscaler_spec_max_replicas{namespace="tandem", horizontalpodautoscaler="social"}': '6x60'
    },
    atMinutes: 17,
    healthy: {
      'kube_horizontalpodautoscaler_status_current_replicas{namespace="tandem", horizontalpodautoscaler="social"}':
        '2x60',
      'kube_horizontalpodautoscaler_spec_max_replicas{namespace="tandem", horizontalpodautoscaler="social"}': '6x60'
    }
  },
  ProcessRestarts: one('process_start_time_seconds{job="social"}', 15, '0+60x60', '1000x60'),
  EventLoopSlow: one('nodejs_eventloop_lag_p99_seconds{job="social", instance="1"}', 7, '0.4x60', '0.02x60'),
  PoolExhausted: one('postgres_pool_refusals_total{job="social"}', 15, '0+12x60', '0x60'),
  // It is named as long as it cannot be read.
  MetricsUnread: one('metrics_unread{job="social", metric="cases_overdue"}', 15, '1x60', '1x3 _x57'),
  // An outage of a quarter of an hour is none.
  ItemsFail: one('failed_items_total{job="social"}', 80, '0+1x90', '0x5 0+9x15 144x70'),
  MemoryHigh: {
    fires: { 'process_resident_memory_bytes{job="social"}': `${0.46 * GIBIBYTE}x60` },
    atMinutes: 12,
    healthy: {
      'process_resident_memory_bytes{job="social"}': `${GIBIBYTE / 8}x60`,
      'process_resident_memory_bytes{job="gateway-realtime"}': `${GIBIBYTE}x60`
    }
  },
  EventsWait: one('bus_outbox_oldest_seconds{service="social"}', 5, '90x60', '0x60'),
  // The first rejected event of a type counts, because the counter starts at 0.
  EventsRefused: one('bus_events_published_total{type="a.b.c.v1", outcome="rejected"}', 12, '0x5 1x55', '1x60'),
  FailedMessages: one('bus_dead_letters{service="social"}', 3, '1x60', '0x60'),
  ConsumerBehind: one('bus_consumer_lag{service="social", from="identity"}', 7, '5000x60', '10x60'),
  ConsumerStuck: { fires: consumer('100x60'), atMinutes: 15, healthy: consumer('100+5x60') },
  StreamUnavailable: one('bus_stream_available{stream="EVENTS_SOCIAL"}', 3, '0x60', '1x60'),
  StreamCopiesMissing: {
    fires: {
      'bus_stream_replicas_wanted{stream="EVENTS_SOCIAL"}': '3x60',
      'bus_stream_replicas_current{stream="EVENTS_SOCIAL"}': '1x60'
    },
    atMinutes: 12,
    healthy: {
      'bus_stream_replicas_wanted{stream="EVENTS_SOCIAL"}': '3x60',
      'bus_stream_replicas_current{stream="EVENTS_SOCIAL"}': '3x60'
    }
  },
  StreamFull: {
    fires: {
      'bus_stream_bytes{stream="EVENTS_SOCIAL"}': '95x60',
      'bus_stream_max_bytes{stream="EVENTS_SOCIAL"}': '100x60'
    },
    atMinutes: 7,
    healthy: {
      'bus_stream_bytes{stream="EVENTS_SOCIAL"}': '40x60',
      'bus_stream_max_bytes{stream="EVENTS_SOCIAL"}': '100x60'
    }
  },
  HandlersFail: { fires: handled('0+50x60'), atMinutes: 25, healthy: handled('0+1x60') },
  SignInsFail: { fires: signIns('0+60x60'), atMinutes: 15, healthy: signIns('0+5x60') },
  RefreshTokensReused: one('identity_security_events_total{kind="REFRESH_REUSED"}', 50, '0+1x60', '0x60'),
  RequestsLimited: one(
    'http_request_duration_seconds_count{job="gateway", route="/x", status_code="429"}',
    15,
    '0+120x60',
    '0+6x60'
  ),
  ReportsBurst: one('fitmatch_reports_total{reason="SPAM"}', 50, '0+2x60', '0x60'),
  CasesOverdue: one('cases_overdue{service="social"}', 20, '1x60', '0x60'),
  OperatorLooksAtManyPeople: one('operator_people_limit_total{job="profile"}', 10, '0+1x60', '0x60'),
  ErasureLate: one('account_erasure_oldest_seconds{service="social"}', 7, '4000x60', '60x60'),
  StoreNotAnswering: one('identity_store_notification_oldest_seconds', 7, '4000x60', '60x60'),
  PurchaseNotAcknowledged: one('identity_unacknowledged_purchase_oldest_seconds', 7, '90000x60', '600x60'),
  DeletionOverdue: one('account_deletion_oldest_seconds', 7, '2420000x60', '1300000x60'),
  MailLate: one('mail_oldest_seconds{service="identity"}', 10, '0+60x60', '2x60'),
  MailRejected: one('mail_attempts_total{service="identity", outcome="failed"}', 50, '0+1x60', '0x60'),
  PushesDelayed: one('notification_push_oldest_seconds{service="notification"}', 25, '0+60x60', '30x60'),
  JobsWait: one('queue_jobs{queue="notification-pushes", state="waiting"}', 17, '20000x60', '5x60'),
  PushesLate: { fires: pushDelays('0+50x60'), atMinutes: 25, healthy: pushDelays('0+100x60') },
  PushesFail: { fires: pushes('0+50x60'), atMinutes: 25, healthy: pushes('0+1x60') },
  PostgresConnections: {
    fires: { postgres_connections: '90x60', postgres_max_connections: '100x60' },
    atMinutes: 7,
    healthy: { postgres_connections: '30x60', postgres_max_connections: '100x60' }
  },
  PostgresReadOnly: one('postgres_read_only{job="social"}', 3, '1x60', '1x0 0x60'),
  PostgresWraparound: one('postgres_xid_age', 70, '1500000000x90', '200000000x90'),
  PostgresStandbyGone: one('postgres_standbys', 30, '2x10 1x50', '2x60'),
  PostgresReplicationLate: one('cnpg_pg_replication_lag', 7, '90x60', '0.1x60'),
  VolumeFull: {
    fires: {
      'node_filesystem_avail_bytes{mountpoint="/", fstype="ext4"}': '10x60',
      'node_filesystem_size_bytes{mountpoint="/", fstype="ext4"}': '100x60'
    },
    atMinutes: 12,
    healthy: {
      'node_filesystem_avail_bytes{mountpoint="/", fstype="ext4"}': '60x60',
      'node_filesystem_size_bytes{mountpoint="/", fstype="ext4"}': '100x60'
    }
  },
  // The clock of promtool starts at 0, so the backup of a day before is negative.
  BackupOld: one('tandem_backup_last_success_timestamp_seconds', 15, '-100000x60', '-3600x60'),
  NatsMemory: one('gnatsd_varz_mem{server_id="a"}', 12, `${0.46 * GIBIBYTE}x60`, `${GIBIBYTE / 16}x60`),
  NatsDown: one('up{job="nats"}', 4, '0x60', '1x60'),
  RedisMemory: {
    fires: { redis_used_bytes: '90x60', redis_limit_bytes: '100x60' },
    atMinutes: 7,
    healthy: { redis_used_bytes: '90x60', redis_limit_bytes: '0x60' }
  },
  CertificateExpires: one(
    'probe_ssl_earliest_cert_expiry{instance="https://api.example.org"}',
    65,
    '86400x90',
    '5000000x90'
  )
}
