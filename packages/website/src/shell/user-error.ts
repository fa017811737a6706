/** An input that the page rejects without the server. `message` is human-readable and names the fix. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly title: string;

  constructor(title: string, message: string) {
    super(message);
    this.title = title;
  }
}
