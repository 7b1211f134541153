/** The four bytes of a dotted IPv4 address as one number; undefined for any other text. */
export function parseIpv4(dotted: string): number | undefined {
  const bytes = dotted.split('.')
  if (bytes.length !== 4 || !bytes.every(isByte)) return undefined
  return bytes.reduce((sum, byte) => sum * 256 + Number(byte), 0)
}

/** Dotted: `100.64.0.2`. */
export function formatIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

function isByte(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= 255
}
