/**
 * In place of what tap uses to find the test that an uncaught error belongs to: it follows every promise by async_hooks,
 * which took a quarter of the processor time of all tests. Such an error belongs to the file instead.
 */
export class Domain {
  destroy () {}
}
