import { Button, type ButtonProps } from '@mantine/core';

/** Loads the next page of a list. Nothing after the last page. */
export function NextPageButton({
  query,
  label,
  ...props
}: {
  query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  label: string;
} & Pick<ButtonProps, 'size' | 'mt' | 'style'>) {
  if (!query.hasNextPage) return null;
  return (
    <Button
      variant="default"
      loading={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
      {...props}
    >
      {label}
    </Button>
  );
}
