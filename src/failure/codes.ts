/** What one kind of failure is to a client: its status, its text, and whether trying again helps. */
export interface FailureSpec {
  readonly status: number;
  /** The body of the answer. `{name}` is replaced by the fact of that name; facts without a place stay in the log. */
  readonly reply: string;
  /** Seconds for `Retry-After`; only where the same request may succeed later. */
  readonly retryAfter?: number;
}

/**
 * Every way in which a request can fail. Texts that a compatible client compares are kept to the letter;
 * all others name what is wrong, where, and what to do. `docs/errors.md` lists this table; a test holds them together.
 */
export const FAILURES = {
  // The request itself
  NOT_FOUND: { status: 404, reply: 'Not Found' },
  METHOD_NOT_ALLOWED: { status: 405, reply: 'Method Not Allowed' },
  NOT_MULTIPART: { status: 415, reply: "Invalid 'Content-Type' header value: want 'multipart/form-data'" },
  NO_BOUNDARY: { status: 415, reply: "Invalid 'Content-Type' header value: no boundary" },
  BODY_MALFORMED: {
    status: 400,
    reply: "Malformed body: it does not match the 'Content-Type' header boundaries",
  },
  BODY_TOO_LARGE: {
    status: 413,
    reply:
      'The request body exceeds the configured size limit. Increase it with --api-body-limit, or send a smaller request.',
  },
  TOO_MANY_PARTS: { status: 413, reply: 'The request has more than {limit} parts. Send fewer files or fields.' },
  VALUES_TOO_LARGE: {
    status: 413,
    reply: 'The form values of the request exceed {limit} bytes. Send large content as a file.',
  },
  FORM_INVALID: { status: 400, reply: 'Invalid form data: {problems}' },
  HEADER_PLANNED: {
    status: 400,
    reply: "The header '{header}' is not supported by this version of Platen yet; leave it out.",
  },
  FORBIDDEN: { status: 403, reply: 'Forbidden' },

  // Time, load and life
  TIME_LIMIT: {
    status: 503,
    reply: 'The request exceeded the time limit. Increase it with --api-timeout, or reduce the workload.',
    retryAfter: 5,
  },
  QUEUE_FULL: {
    status: 429,
    reply:
      'The request queue is full. Retry shortly, or raise the limit with --chromium-max-queue-size or --libreoffice-max-queue-size.',
    retryAfter: 2,
  },
  OVERLOADED: {
    status: 503,
    reply: 'Too much work is waiting for this request to be served in time. Retry shortly, or raise --api-timeout.',
    retryAfter: 5,
  },
  SHUTTING_DOWN: { status: 503, reply: 'The service is stopping. Retry on another instance.', retryAfter: 5 },
  CLIENT_GONE: { status: 499, reply: '' },
  ENGINE_UNAVAILABLE: {
    status: 503,
    reply: '{engine} could not be started. Retry shortly; the log of the service has the reason.',
    retryAfter: 5,
  },
  CRASHED_TWICE: {
    status: 500,
    reply:
      'The document made {engine} crash twice, so it is not tried again. Other requests are not affected. Check the document.',
  },
  MEMORY_LIMIT: {
    status: 500,
    reply: 'The conversion needed more memory than {engine} may use. Reduce the document, or raise its memory limit.',
  },
  DISK_FULL: {
    status: 503,
    reply: 'The temporary folder of the service is full. Free space in it, or retry shortly.',
    retryAfter: 10,
  },
  INTERNAL: { status: 500, reply: 'Internal Server Error' },

  // Chromium
  URL_INVALID: { status: 400, reply: "Invalid URL: '{url}'. Give an absolute http:// or https:// address." },
  URL_FILE_SCHEME: {
    status: 400,
    reply:
      'file:// URLs are not accepted on this route. Use the /convert/html or /convert/markdown routes to render local HTML',
  },
  PAGE_STATUS: { status: 409, reply: 'Invalid HTTP status code from the main page: {code}: {reason}' },
  PAGE_LOAD_FAILED: { status: 400, reply: 'Chromium returned {error}: loading failed' },
  PAGE_NOT_PRINTABLE: {
    status: 400,
    reply: "The main page answered with something that is no page ({reason}), so there's nothing to print",
  },
  PAGE_TOO_LARGE: {
    status: 400,
    reply: 'Chromium failed to print the PDF; this usually happens when the page is too large',
  },
  PRINT_SETTINGS: {
    status: 400,
    reply: 'Chromium does not handle the provided settings; please check for aberrant form values',
  },
  PAGE_RANGES_SYNTAX: {
    status: 400,
    reply: "Chromium does not handle the page ranges '{ranges}' (nativePageRanges) syntax",
  },
  PAGE_RANGES_BEYOND: {
    status: 400,
    reply: "The page ranges '{ranges}' (nativePageRanges) exceeds the page count",
  },
  EXPRESSION_FAILED: {
    status: 400,
    reply: "The expression '{expression}' (waitForExpression) returned an exception or undefined",
  },
  SELECTOR_FAILED: {
    status: 400,
    reply: "The selector '{selector}' (waitForSelector) returned an exception or undefined",
  },

  // LibreOffice
  OFFICE_UNREADABLE: {
    status: 400,
    reply:
      "LibreOffice could not read the document '{file}'. Ensure the file is not corrupted and that its extension matches its actual format.",
  },
  OFFICE_NOT_CONVERTIBLE: {
    status: 400,
    reply:
      "LibreOffice read the document '{file}' but could not convert it to PDF. The document may be corrupted or rely on an unsupported feature.",
  },
  OFFICE_EMPTY: { status: 400, reply: "The document '{file}' is empty (0 bytes). Send the file's content." },
  OFFICE_MISLABELLED: {
    status: 400,
    reply:
      "The content of '{file}' is not what its extension says: {found} instead of {expected}. Rename the file, or send the right one.",
  },
  OFFICE_NO_FILTER: {
    status: 400,
    reply:
      "LibreOffice can't read '{file}' here: it has no import filter for it ({found}). Send the document in another format.",
  },
  OFFICE_PASSWORD_REQUIRED: {
    status: 400,
    reply: "The document '{file}' is password-protected. Provide its password in the 'password' form field.",
  },
  OFFICE_PASSWORD_WRONG: {
    status: 400,
    reply: "The password for the document '{file}' is incorrect. Check the 'password' form field.",
  },
  OFFICE_PASSWORD_UNNEEDED: {
    status: 400,
    reply: "The document '{file}' is not password-protected. Remove the 'password' form field.",
  },
  OFFICE_PAGE_RANGES: {
    status: 400,
    reply:
      "LibreOffice could not apply the page ranges '{ranges}' to the document '{file}'. Check the 'nativePageRanges' form field; valid values look like '1-4', '2' or '1,3,5-7'.",
  },

  // PDF
  PDF_UNREADABLE: {
    status: 400,
    reply: "The PDF '{file}' could not be read. Ensure that the file is complete and really is a PDF.",
  },
  PDF_ENCRYPTED: {
    status: 400,
    reply: "The PDF '{file}' is protected by a password. Remove its protection before you send it.",
  },
} as const satisfies Record<string, FailureSpec>;

export type FailureCode = keyof typeof FAILURES;
