/** The driver of PostgreSQL has a native half that is optional. */
export const NOT_BUNDLED = ['pg-native']
