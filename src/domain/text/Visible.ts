/** Text of strangers without what people do not see and a model reads: tag characters, direction marks, control characters. */

const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

export const visible = (text: string): string =>
  text.replace(unseen, (character) => (/[\u2028\u2029]/.test(character) ? "\n" : ""))
